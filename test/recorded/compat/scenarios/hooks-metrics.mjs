// The metrics of the match conditions of webhooks.
import { GET, POST } from '../steps.ts';
import { CM, allow, cm, hooked, mutating, quiet, validating, webhook } from './kit/admission.mjs';

const named = (name, matchConditions, o = {}) => webhook('h', { name: `${name}.$ns.example.com`, matchConditions: matchConditions.map((expression, i) => ({ name: `c${i}`, expression })), ...o });
/** The counters of this scenario's webhooks; of a histogram, how often it was observed. */
const counted = (prefix) => ({ text: true, note: 'metrics', pick: (text) => [...`${text}`.matchAll(/^(apiserver_admission_match_condition_(?:evaluation_errors_total|exclusions_total|evaluation_seconds_count))\{([^}]*)\} (\S+)$/gm)].map(([, name, labels, value]) => `${name}{${labels}} ${value}`).filter((line) => line.includes(`name="${prefix}-`)).sort() });
const own = (prefix, list) => list.map((o) => ({ ...o, name: `${prefix}-${o.name}` }));
const failing = 'object.data.nope == \'x\'';
const on = (id, about, configurations, steps) => hooked(`hooks-metrics-${id}`, about, configurations, { hooks: { h: allow }, needs: 'hooks-metrics' }, steps);

export default [
  on('conditions', 'conditions that hold, that do not, and that fail, of both types', [
    mutating(own('hm', [named('m-true', ['true']), named('m-false', ['false']), named('m-fails', [failing, failing], { failurePolicy: 'Ignore' })])),
    validating(own('hm', [named('v-true', ['true']), named('v-false', [failing, 'false', failing]), named('v-fails', [failing], { failurePolicy: 'Ignore' }), named('v-none', [])])),
  ], [POST(CM, cm(), quiet), GET('/metrics', counted('hm'))]),
  on('conditions-refuse', 'conditions that fail and refuse', validating(own('hr', [named('r-fails', ['true', failing])])), [POST(CM, cm(), quiet), GET('/metrics', counted('hr'))]),
];
