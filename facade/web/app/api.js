// The public REST contract, as any client has it: JSON, event streams, lines. Nothing here knows a page.
import { events, lines } from './wire.js';
import { curlText } from './shell-text.js';

/**
 * @typedef {{pointer: string, keyword?: string, message: string}} Violation
 * @typedef {Record<string, string | number | boolean | null | undefined>} Query
 * @typedef {{query?: Query, signal?: AbortSignal, headers?: Record<string, string>}} Options
 */

/** Why a request was not answered: RFC 9457 problem details, or the lack of any answer. */
export class Problem extends Error {
  /** @param {number} status @param {any} body */
  constructor(status, body) {
    super(body?.detail || body?.title || `answer ${status}`);
    this.name = 'Problem';
    /** 0 where there was no answer at all. */
    this.status = status;
    /** @type {any} the whole answer */
    this.body = body ?? {};
    /** @type {string} the reason word, such as TOOL_NOT_FOUND */
    this.reason = reasonOf(status, body);
    /** @type {string} */
    this.title = body?.title ?? '';
    /** @type {string} */
    this.detail = body?.detail ?? '';
    /** @type {Violation[]} */
    this.violations = Array.isArray(body?.violations) ? body.violations : [];
    /** @type {number | undefined} seconds */
    this.retryAfter = undefined;
    if (typeof body?.retryAfterMs === 'number') this.retryAfter = Math.ceil(body.retryAfterMs / 1000);
    /** @type {any} what a check of a target found, with 422 */
    this.validation = body?.validation;
  }
}

/** @param {number} status @param {any} body */
function reasonOf(status, body) {
  if (typeof body?.reason === 'string') return body.reason;
  const word = /^urn:toolgate:error:(.+)$/.exec(body?.type ?? '');
  if (word) return String(word[1]).replaceAll('-', '_').toUpperCase();
  return status === 0 ? 'NO_ANSWER' : `HTTP_${status}`;
}

let csrf = '';
/** @type {(problem: Problem) => void} */
let whenSignedOut = () => {};

/** Sets what every change carries. @param {string} token */
export const setCsrf = (token) => { csrf = token; };

/** Called once a request is answered 401. @param {(problem: Problem) => void} fn */
export const onSignedOut = (fn) => { whenSignedOut = fn; };

/** @param {string} path @param {Query} [query] */
export function withQuery(path, query) {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== '') asked.set(name, String(value));
  }
  const text = asked.toString();
  return text ? path + (path.includes('?') ? '&' : '?') + text : path;
}

/**
 * @param {string} method @param {string} path @param {any} [body] @param {Options} [options]
 * @returns {Promise<Response>} an answer of success
 */
async function send(method, path, body, options = {}) {
  /** @type {Record<string, string>} */
  const headers = { accept: 'application/json', ...options.headers };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (method !== 'GET' && csrf) headers['x-csrf-token'] = csrf;
  /** @type {Response} */
  let answer;
  try {
    answer = await fetch(withQuery(path, options.query), {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: options.signal,
      credentials: 'same-origin',
      cache: 'no-store',
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Problem(0, { title: 'no answer', detail: 'the gateway does not answer; check that it runs and that this machine reaches it' });
  }
  if (answer.ok) return answer;
  throw await problemOf(answer);
}

/** @param {Response} answer */
async function problemOf(answer) {
  const text = await answer.text().catch(() => '');
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    body = { title: answer.statusText, detail: text.slice(0, 500) };
  }
  const problem = new Problem(answer.status, body);
  const wait = Number(answer.headers.get('retry-after'));
  if (problem.retryAfter === undefined && wait > 0) problem.retryAfter = wait;
  if (answer.status === 401) whenSignedOut(problem);
  return problem;
}

/** @param {string} method @param {string} path @param {any} [body] @param {Options} [options] @returns {Promise<any>} */
async function json(method, path, body, options) {
  const answer = await send(method, path, body, options);
  const text = answer.status === 204 ? '' : await answer.text();
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(answer.status, { title: 'not JSON', detail: 'the answer cannot be read; something between this browser and the gateway may have changed it' });
  }
}

/** @param {string} path @param {Options} [options] */
export const get = (path, options) => json('GET', path, undefined, options);
/** @param {string} path @param {any} [body] @param {Options} [options] */
export const post = (path, body, options) => json('POST', path, body, options);
/** @param {string} path @param {any} [body] @param {Options} [options] */
export const put = (path, body, options) => json('PUT', path, body, options);
/** @param {string} path @param {any} [body] @param {Options} [options] */
export const patch = (path, body, options) => json('PATCH', path, body, options);
/** @param {string} path @param {Options} [options] */
export const del = (path, options) => json('DELETE', path, undefined, options);

/**
 * Reads an event stream until its terminal event; what breaks off is resumed with Last-Event-ID.
 * @param {string} path
 * @param {{onEvent: (event: import('./wire.js').StreamEvent) => void, onBreak?: (tries: number) => void,
 *   onOpen?: (lastEventId: string, tries: number) => void, signal?: AbortSignal, lastEventId?: string, terminal?: string[]}} options
 */
export function stream(path, { signal, ...options }) {
  return events((lastEventId) => send('GET', path, undefined, {
    signal,
    headers: { accept: 'text/event-stream', ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
  }), { ...options, signal });
}

/**
 * Reads an answer line by line, each a JSON value.
 * @param {string} path
 * @param {{method?: string, body?: any, query?: Query, onLine: (value: any) => void, signal?: AbortSignal}} options
 */
export async function ndjson(path, { method = 'GET', body, query, onLine, signal }) {
  const answer = await send(method, path, body, { query, signal, headers: { accept: 'application/x-ndjson' } });
  await lines(answer, onLine);
}

/** Lets the browser save an answer; the cookie goes along. @param {string} path @param {string} filename */
export function download(path, filename) {
  const link = document.createElement('a');
  link.href = path;
  link.download = filename;
  document.body.append(link);
  link.click();
  link.remove();
}

/** The same request for a shell; the token is read from TOOLGATE_TOKEN. @param {string} method @param {string} path @param {any} [body] */
export const curl = (method, path, body) => curlText(location.origin, method, path, body);
