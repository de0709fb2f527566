// What somebody gave to sign in with: a code, a whole link, or something else that is told by its kind. Draws nothing.

/**
 * @param {string} text a code or a link that carries one
 * @returns {{code: string} | {not: 'empty_code' | 'api_token' | 'no_code'}}
 */
export function codeIn(text) {
  const code = /#code=([^&\s]+)/.exec(text)?.[1] ?? text.trim();
  if (code.startsWith('tgl_')) return { code };
  if (!code) return { not: 'empty_code' };
  return { not: code.startsWith('tgk_') ? 'api_token' : 'no_code' };
}
