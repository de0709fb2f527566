// Names that are near to one that nobody has. Draws nothing.

/** How many are told. */
const MOST = 3;

/** The names that were probably meant, the nearest first. @param {string} asked @param {string[]} names */
export function near(asked, names) {
  const word = plain(asked);
  const room = spaceOf(asked);
  return names
    .map((name) => ({ name, far: distance(word, plain(name)), kin: room !== '' && spaceOf(name) === room }))
    .filter(({ far, kin }) => kin || far <= Math.max(2, Math.floor(word.length / 3)))
    .sort((a, b) => a.far - b.far)
    .slice(0, MOST)
    .map(({ name }) => name);
}

/** Without what dialects write differently. @param {string} name */
const plain = (name) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** What stands before the dot. @param {string} name */
const spaceOf = (name) => /^([a-z]+)\./i.exec(name)?.[1]?.toLowerCase() ?? '';

/** How many letters have to be changed, put in or taken out. @param {string} a @param {string} b */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
