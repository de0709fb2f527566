// What to do, one thing after the other.
import { html } from '../html.js';

/** @param {{steps: {title: any, done?: boolean, children?: any}[]}} props the first that is not done is the next one */
export function Steps({ steps }) {
  const next = steps.findIndex((step) => !step.done);
  return html`
    <ol class="steps">${steps.map((step, at) => html`
      <li key=${at} class=${step.done ? 'is-done' : at === next ? 'is-next' : undefined}>
        <h3>${step.title}${step.done && html`<span class="sr">, done</span>`}</h3>${step.children}
      </li>`)}</ol>`;
}
