// The pages, in the order of the navigation.
import { may } from '../session.js';

/** @typedef {{name: string, href: string, label: string, icon: string, hint: string}} Place */

/** @type {Record<string, Place>} */
const ALL = {
  overview: { name: 'overview', href: '/', label: 'Overview', icon: 'overview', hint: 'What is up and what was asked' },
  'test-call': { name: 'test-call', href: '/test-call', label: 'Test call', icon: 'call', hint: 'Call a tool as an agent would' },
  adapters: { name: 'adapters', href: '/adapters', label: 'Adapters', icon: 'adapters', hint: 'Targets and their credentials' },
  tools: { name: 'tools', href: '/tools', label: 'Tools', icon: 'tools', hint: 'The registry and the profiles' },
  fleet: { name: 'fleet', href: '/fleet', label: 'Fleet', icon: 'fleet', hint: 'Projects and relays' },
  audit: { name: 'audit', href: '/audit', label: 'Audit', icon: 'link', hint: 'The record' },
  access: { name: 'access', href: '/access', label: 'Access', icon: 'key', hint: 'Tokens, sessions and roles' },
};

/** The navigation in groups, as the role has it: what it may not read is absent. @returns {{label?: string, places: Place[]}[]} */
export function groups() {
  const observe = may('read-record') || may('call') ? ['fleet', 'audit'] : ['fleet'];
  return [
    { places: pick(may('call') ? ['overview', 'test-call'] : ['overview']) },
    { label: 'Configure', places: pick(['adapters', 'tools']) },
    { label: 'Observe', places: pick(observe) },
    { label: 'Administer', places: pick(['access']) },
  ];
}

/** @param {string[]} names */
const pick = (names) => names.map((name) => /** @type {Place} */ (ALL[name]));
