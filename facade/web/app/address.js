// Addresses of pages, read and written. Text only.

/** @param {string} url a path with its query */
export function read(url) {
  const { pathname, searchParams } = new URL(url, 'http://here');
  const parts = pathname.split('/').filter(Boolean).map(decoded);
  return { path: pathname, parts, query: searchParams };
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The same address with other parts of the query; null takes one out. @param {string} url @param {Record<string, string | null>} changes */
export function changed(url, changes) {
  const { pathname, searchParams } = new URL(url, 'http://here');
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') searchParams.delete(name);
    else searchParams.set(name, value);
  }
  const query = searchParams.toString();
  return query ? `${pathname}?${query}` : pathname;
}

/** Where to go after signing in: a path of ours, nothing else. @param {string | null} next */
export function safeNext(next) {
  if (!next || !/^\/(?![/\\])/.test(next)) return '/';
  const { origin, pathname, search } = new URL(next, 'http://here');
  // What was a path may be a host once its dots are resolved.
  const ours = origin === 'http://here' && /^\/(?![/\\])/.test(pathname) && !pathname.startsWith('/sign-in');
  return ours ? pathname + search : '/';
}
