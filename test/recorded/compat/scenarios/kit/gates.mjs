// Scenarios of feature gates.
import { scenario } from '../../steps.ts';

/** Two scenarios of the same steps: on the usual server, and on one whose gates are the other way round. */
export const gated = (name, isOnByDefault, about, steps, o = {}) => ['on', 'off'].map((state) => scenario(
  `gates-${name}-${state}`,
  { section: '12', about: `${about}, gate ${state}`, ...((state === 'on') === isOnByDefault ? {} : { needs: `gates-${state}` }), ...o },
  steps,
));
