// What mends a check that failed for another reason than its credential. Reads the reason; decides nothing. Pure.

/** @typedef {import('./target.js').Stage} Stage */
/** @typedef {(config: Record<string, any>) => Record<string, any>} Change what one click does to the settings of a form */
/** @typedef {{text: string, shown?: string, fix?: {label: string, change: Change}}} Remedy shown: what is to be compared before the click */

/** The certificate that a refused handshake showed. @param {string | undefined} reason @returns {string | undefined} */
export const fingerprintIn = (reason) => reason?.match(/\b(?:[0-9A-F]{2}:){31}[0-9A-F]{2}\b/)?.[0];

/** The network that would have to be allowed. @param {string | undefined} reason @returns {string | undefined} */
export const networkIn = (reason) => reason?.match(/allowPrivate \["([0-9A-Fa-f:.]+\/[0-9]{1,3})"\]/)?.[1];

/** The same settings with a switch on. @param {string} name @returns {Change} */
const on = (name) => (config) => ({ ...config, [name]: true });

/** @param {string} reason @returns {Remedy} */
function reached(reason) {
  const network = networkIn(reason);
  if (network) {
    return {
      text: 'Private addresses are dialled only where an admin allows them, target by target. If this is the machine you mean, allow it and no more:',
      fix: { label: `Allow ${network}`, change: (config) => ({ ...config, allowPrivate: [...new Set([...(config.allowPrivate ?? []), network])] }) },
    };
  }
  if (reason.includes('allowLoopback')) {
    return { text: 'The address is the machine that this gateway runs on. If that is what you mean, allow it:', fix: { label: 'Allow this machine', change: on('allowLoopback') } };
  }
  if (reason.includes('allowHttp')) {
    return { text: 'Without TLS everyone between reads the credential. Give the address with https, or allow it where nobody is between:', fix: { label: 'Allow plain HTTP', change: on('allowHttp') } };
  }
  if (reason.includes('never dialled')) return { text: 'No setting allows this address. Give the one by which the system is reached on its network.' };
  if (reason.includes('cannot be looked up')) {
    return { text: 'The machine that the gateway runs on does not know the name. Look at its spelling; a name of your own network must be known to that machine’s DNS, or give the address in its place. The credential was not sent.' };
  }
  return { text: 'Nothing answered at this address from the machine that the gateway runs on. See that the system runs, that address and port are right, and that no firewall stands between. The credential was not sent.' };
}

/** @param {string} reason @returns {Remedy} */
function trusted(reason) {
  const print = fingerprintIn(reason);
  if (!print) return { text: 'The connection is not trusted. Give the certificate of its authority under More settings, or an address that its certificate names. The credential was not sent.' };
  return {
    text: 'The server showed a certificate that this machine does not trust. Compare its SHA-256 fingerprint with the one the server itself shows:',
    shown: print,
    fix: { label: 'They are the same, use it', change: (config) => ({ ...config, fingerprints: [print] }) },
  };
}

/**
 * What to do about a stage that failed; none where another credential is what it takes.
 * @param {Stage | undefined} stage @returns {Remedy | undefined}
 */
export function remedy(stage) {
  const reason = stage?.reason ?? '';
  if (stage?.name === 'reach') return reached(reason);
  if (stage?.name === 'tls') return trusted(reason);
  if (stage?.name === 'version') return { text: 'The credential was accepted. What answers there is not a version that Toolgate reads; its reason says which is.' };
  if (stage?.name === 'sample') return { text: 'The credential was accepted and can do no more than it should; the first read failed all the same. Its reason says why; look at the system itself.' };
  return undefined;
}
