// What this page holds together: the chosen tool with its form, the address that carries both, and the call under way.
import { useEffect, useRef, useState } from '../../html.js';
import { parseExact, writeExact } from '../../exact.js';
import { setQuery } from '../../router.js';
import { begin } from './call.js';
import { argumentsOf, emptyDraft, errorsOf } from './form.js';
import { keep } from './history.js';
import { fromQuery, toQuery } from './link.js';
import { unlisted } from './picker.js';

/**
 * @typedef {import('./picker.js').Tool} Tool
 * @typedef {import('./form.js').Draft} Draft
 * @typedef {ReturnType<typeof useCalling>} Desk
 */

/** How long typing rests before the address follows. */
const REST = 300;

/**
 * @param {Tool[]} tools
 * @param {URLSearchParams} query
 * @param {() => void} onStale called when the gateway knows targets that our list does not
 */
export function useCalling(tools, query, onStale) {
  const [begun] = useState(() => beginning(tools, query));
  const [name, setName] = useState(begun.name);
  const [drafts, setDrafts] = useState(begun.drafts);
  const [running, setRunning] = useState(/** @type {import('./call.js').Running|null} */ (null));
  const [errors, setErrors] = useState(/** @type {Record<string, string>} */ ({}));
  const [targetError, setTargetError] = useState('');
  const chosen = name ? found(tools, name) : null;
  const draft = (chosen && drafts[chosen.name]) ?? emptyDraft();
  const call = running?.state.value ?? null;
  const busy = call !== null && ['sending', 'running', 'cancelling'].includes(call.phase);

  /** @param {string} picked @param {Partial<Draft>} [with_] */
  const pick = (picked, with_) => {
    const tool = found(tools, picked);
    setName(tool.name);
    setErrors({});
    setTargetError('');
    setDrafts((old) => ({ ...old, [tool.name]: { ...start(tool, old, chosen), ...with_ } }));
  };
  useAddress(tools, query, chosen, draft, pick);

  /** @param {Draft} next */
  const change = (next) => {
    if (!chosen) return;
    setDrafts((old) => ({ ...old, [chosen.name]: next }));
    setErrors((old) => without(old, draft.value, next));
    if (next.target !== draft.target) setTargetError('');
  };

  /** @param {Partial<Draft>} [with_] */
  const run = (with_) => {
    if (!chosen || busy) return;
    const sent = { ...draft, ...with_ };
    const { args } = argumentsOf(sent);
    if (!args) return;
    setErrors({});
    setTargetError('');
    const target = chosen.targets.find((each) => each.id === sent.target) ?? null;
    const { adapterType, freshness, annotations } = chosen;
    const started = begin({ name: chosen.name, adapterType, freshness, writes: annotations?.readOnlyHint === false }, args, target);
    setRunning(started);
    started.ended.then(() => finish(started.state.peek()));
  };

  /** @param {import('./state.js').Call} ended */
  const finish = (ended) => {
    keep(ended);
    setErrors(errorsOf(ended.problem));
    if (ended.problem?.reason !== 'TARGET_REQUIRED') return;
    setTargetError(`choose one of ${ended.problem.body.targets?.length ?? 'several'}: the gateway asks no target by guess`);
    if (!chosen || chosen.targets.length < 2) onStale();
    document.getElementById('a-target')?.focus();
  };

  // Leaving the page leaves the stream, and so cancels what is under way.
  useEffect(() => () => running?.cancel(), [running]);
  return {
    chosen, draft, call, busy, errors, targetError, pick: (/** @type {string} */ picked) => pick(picked), change, run,
    cancel: () => running?.cancel(),
    again: () => run(),
    /** @param {string} cursor */
    next: (cursor) => {
      const { args } = argumentsOf(draft);
      const value = { ...args, cursor };
      change({ ...draft, value, raw: null });
      run({ value, raw: null });
    },
    /** @param {string} command */
    command: (command) => change({ ...draft, value: { ...draft.value, command }, raw: null }),
    /** @param {import('./history.js').Kept} kept */
    open: (kept) => pick(kept.tool, {
      value: kept.args ? parseExact(kept.args) : {}, raw: found(tools, kept.tool).unlisted ? kept.args ?? '{}' : null, target: kept.target?.id ?? '',
    }),
  };
}

/**
 * The address follows the form, and the form an address that came from elsewhere.
 * @param {Tool[]} tools
 * @param {URLSearchParams} query
 * @param {Tool|null} chosen
 * @param {Draft} draft
 * @param {(name: string, with_: Partial<Draft>) => void} pick
 */
function useAddress(tools, query, chosen, draft, pick) {
  const asked = query.toString();
  // What it was opened with stands in the form already.
  const written = useRef(asked);
  useEffect(() => {
    if (asked === written.current) return;
    written.current = asked;
    const { tool, target, args } = fromQuery(query);
    if (tool) pick(tool, { value: args, raw: found(tools, tool).unlisted ? writeExact(args, 2) : null, target });
  }, [asked]);
  const { args } = argumentsOf(draft);
  useEffect(() => {
    if (!chosen || !args) return undefined;
    const timer = setTimeout(() => {
      const next = toQuery(chosen.name, draft.target, args);
      const text = new URLSearchParams(Object.entries(next).filter((entry) => entry[1] !== null).map(([key, value]) => [key, String(value)]));
      written.current = text.toString();
      setQuery(next);
    }, REST);
    return () => clearTimeout(timer);
  }, [chosen?.name, draft]);
}

/**
 * The form as the address asks for it, from the first time it is drawn.
 * @param {Tool[]} tools
 * @param {URLSearchParams} query
 * @returns {{name: string, drafts: Record<string, Draft>}}
 */
function beginning(tools, query) {
  const { tool, target, args } = fromQuery(query);
  if (!tool) return { name: '', drafts: {} };
  const { name, unlisted: unknown } = found(tools, tool);
  return { name, drafts: { [name]: { value: args, raw: unknown ? writeExact(args, 2) : null, target } } };
}

/** @param {Tool[]} tools @param {string} name */
function found(tools, name) {
  return tools.find((tool) => tool.name === name || tool.functionName === name) ?? unlisted(name);
}

/**
 * What a tool's form begins with: what stood there before, and the target of the tool chosen before it.
 * @param {Tool} tool
 * @param {Record<string, Draft>} drafts
 * @param {Tool|null} before
 * @returns {Draft}
 */
function start(tool, drafts, before) {
  const kept = drafts[tool.name] ?? { ...emptyDraft(), raw: tool.unlisted ? '{}' : null };
  const target = kept.target || (before && drafts[before.name]?.target) || '';
  return { ...kept, target: tool.targets.some((each) => each.id === target) ? target : '' };
}

/**
 * Errors but for the fields that were changed.
 * @param {Record<string, string>} errors
 * @param {any} before
 * @param {Draft} next
 */
function without(errors, before, next) {
  if (next.raw !== null) return {};
  return Object.fromEntries(Object.entries(errors).filter(([pointer]) => {
    const field = pointer.split('/')[1] ?? '';
    return before?.[field] === next.value?.[field];
  }));
}
