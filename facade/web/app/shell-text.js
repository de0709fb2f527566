// Requests as commands for a POSIX shell. Text only.

/** One word of a shell, whatever it holds. @param {string} text */
export function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * A request as a curl command.
 * @param {string} origin @param {string} method @param {string} path @param {any} [body] @param {string[]} [headers]
 */
export function curlText(origin, method, path, body, headers = []) {
  const parts = [`curl -sS ${quoted(origin + path)}`, '-H "Authorization: Bearer $TOOLGATE_TOKEN"'];
  const implied = body === undefined ? 'GET' : 'POST';
  if (method !== implied) parts[0] = `curl -sS -X ${method} ${quoted(origin + path)}`;
  for (const header of headers) parts.push(`-H ${quoted(header)}`);
  if (body !== undefined) parts.push(`--json ${quoted(JSON.stringify(body))}`);
  return parts.join(' \\\n  ');
}
