// Which names fit what was typed, best first. Text only.

/** @template {{label: string, note?: string}} T @param {T[]} all @param {string} asked @returns {T[]} */
export function ranked(all, asked) {
  const words = asked.toLowerCase().split(/[\s._/-]+/).filter(Boolean);
  if (!words.length) return all;
  return all
    .map((each) => ({ each, score: scoreOf(each.label.toLowerCase(), (each.note ?? '').toLowerCase(), words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ each }) => each);
}

/** @param {string} label @param {string} note @param {string[]} words every one must be found */
function scoreOf(label, note, words) {
  let score = 0;
  for (const word of words) {
    const at = label.indexOf(word);
    if (at === 0) score += 4;
    else if (at > 0) score += /[\s._/-]/.test(label.charAt(at - 1)) ? 3 : 2;
    else if (note.includes(word)) score += 1;
    else return 0;
  }
  return score;
}
