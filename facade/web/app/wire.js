// Two ways an answer comes in parts: server-sent events and lines of JSON. Reads; opens nothing itself.

/** Waits between tries, in milliseconds; after the last one the failure is told. */
const PAUSES = [250, 500, 1000, 2000, 4000, 4000, 4000, 4000];

/** @typedef {{id: string, event: string, data: any, text: string}} StreamEvent text: the data as it came, where numbers keep their digits */

/** Reads the text of an event stream, in pieces as they come. */
export class EventReader {
  constructor() {
    /** The id of the last whole event: from here a stream is resumed. */
    this.id = '';
    this.coming = '';
    this.rest = '';
    this.event = '';
    /** @type {string[]} */
    this.data = [];
    /** @type {number | undefined} what the server asks to wait before resuming */
    this.retry = undefined;
  }

  /** Drops what came of half an event; it is sent again. */
  forget() {
    this.rest = '';
    this.coming = this.id;
    this.event = '';
    this.data = [];
  }

  /** The events that are whole with this piece. @param {string} piece @returns {StreamEvent[]} */
  read(piece) {
    const whole = [];
    const text = this.rest + piece;
    const parts = text.split(/\r\n|\n|\r(?!$)/);
    this.rest = parts.pop() ?? '';
    for (const line of parts) {
      if (line !== '') this.line(line);
      else if (this.data.length) whole.push(this.take());
      else this.passOver();
    }
    return whole;
  }

  /** @param {string} line */
  line(line) {
    if (line.startsWith(':')) return;
    const at = line.indexOf(':');
    const name = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '');
    if (name === 'data') this.data.push(value);
    else if (name === 'event') this.event = value;
    else if (name === 'id' && !value.includes('\0')) this.coming = value;
    else if (name === 'retry' && /^\d+$/.test(value)) this.retry = Number(value);
  }

  /** An event without data is none, but its id counts. */
  passOver() {
    this.id = this.coming;
    this.event = '';
  }

  take() {
    this.id = this.coming;
    const text = this.data.join('\n');
    const event = { id: this.id, event: this.event || 'message', data: parsed(text), text };
    this.data = [];
    this.event = '';
    return event;
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Reads a stream of events to its terminal event, opening it again where it breaks off.
 * A refusal (an answer of 400 to 499) is not tried again; an answer of 204 has nothing left to tell.
 * @param {(lastEventId: string) => Promise<Response>} open
 * @param {{onEvent: (event: StreamEvent) => void, onBreak?: (tries: number) => void,
 *   onOpen?: (lastEventId: string, tries: number) => void,
 *   signal?: AbortSignal, lastEventId?: string, terminal?: string[], pauses?: number[]}} options
 */
export async function events(open, { onEvent, onBreak, onOpen, signal, lastEventId = '', terminal = ['done', 'error'], pauses = PAUSES }) {
  const reader = new EventReader();
  reader.id = lastEventId;
  reader.forget();
  for (let tries = 0; ; ) {
    /** @type {unknown} */
    let fault = new Error('the stream broke off');
    try {
      const answer = await open(reader.id);
      if (answer.status === 204) return;
      onOpen?.(reader.id, tries);
      for await (const piece of textOf(answer)) {
        for (const event of reader.read(piece)) {
          tries = 0;
          onEvent(event);
          if (terminal.includes(event.event)) return;
        }
      }
    } catch (error) {
      if (signal?.aborted || refused(error)) throw error;
      fault = error;
    }
    reader.forget();
    if (tries >= pauses.length) throw fault;
    onBreak?.(tries + 1);
    await pause(reader.retry ?? Number(pauses[tries]), signal);
    tries += 1;
  }
}

/** @param {any} error */
const refused = (error) => typeof error?.status === 'number' && error.status >= 400 && error.status < 500;

/**
 * Calls onLine with each line of an answer, read as JSON.
 * @param {Response} answer @param {(value: any) => void} onLine
 */
export async function lines(answer, onLine) {
  let rest = '';
  for await (const piece of textOf(answer)) {
    const parts = (rest + piece).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) if (line.trim()) onLine(parsed(line));
  }
  if (rest.trim()) onLine(parsed(rest));
}

/** @param {Response} answer */
async function* textOf(answer) {
  const reader = answer.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    // Leaving early closes the stream, so that the gateway knows that nobody reads any more.
    reader.cancel().catch(() => {});
  }
}

/** @param {number} ms @param {AbortSignal} [signal] */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, undefined);
    signal?.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
  });
}
