// A piece of a page that is loaded when it is first drawn.
import { html, useEffect, useState } from './html.js';

/**
 * The component of that name, once it is there.
 * @param {() => Promise<any>} load
 * @param {string} name
 */
export function later(load, name) {
  /** @type {any} */
  let Piece;
  return (/** @type {any} */ props) => {
    const [, draw] = useState(false);
    useEffect(() => {
      if (!Piece) load().then((module) => { Piece = module[name]; draw(true); }, (error) => console.error(error));
    }, []);
    return Piece ? html`<${Piece} ...${props} />` : html`<div aria-busy="true"></div>`;
  };
}
