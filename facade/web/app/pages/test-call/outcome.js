// What a tool answered: the parts of a result, joined when they came in several events, and how old they are.

/**
 * @typedef {{type: string, text?: string, [more: string]: unknown}} Block
 * @typedef {{content: Block[], structuredContent?: any, isError: boolean, _meta?: Record<string, any>}} Outcome
 */

/**
 * Joins a result's next part to what came before, as the gateway does it for callers that wait.
 * @param {Outcome|null} before
 * @param {Outcome} next
 * @returns {Outcome}
 */
export function joined(before, next) {
  if (!before) return { ...next, content: next.content ?? [] };
  return {
    ...before, ...next,
    content: [...before.content, ...(next.content ?? [])],
    _meta: { ...before._meta, ...next._meta },
  };
}

/**
 * The result as people read it.
 * @param {Outcome} outcome
 */
export function textOf(outcome) {
  return outcome.content.filter((block) => block.type === 'text').map((block) => block.text ?? '').join('\n');
}

/**
 * Blocks that are no text: named, not shown, because what they hold came from elsewhere.
 * @param {Outcome} outcome
 */
export function otherBlocks(outcome) {
  return outcome.content.filter((block) => block.type !== 'text');
}

/**
 * Seconds since an answer was put in the cache, or null where it is fresh. Only inventories may be old.
 * @param {Outcome} outcome
 * @param {number} sinceReceived milliseconds
 */
export function age(outcome, sinceReceived) {
  const seconds = outcome._meta?.['toolgate/ageSeconds'];
  if (typeof seconds !== 'number' || !outcome._meta?.['toolgate/cachedAt']) return null;
  return Math.max(0, Math.floor(seconds + sinceReceived / 1000));
}

/**
 * The target that answered.
 * @param {Outcome} outcome
 * @returns {{id: string, name: string}|null}
 */
export function targetOf(outcome) {
  const target = outcome._meta?.['toolgate/target'];
  return target && typeof target === 'object' ? target : null;
}
