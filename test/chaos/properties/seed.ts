/**
 * This module is loaded before the unit tests. Property tests use the same values in each run, so
 * that failures in CI are caused by the change and not by chance. `KEELSON_SEED=random npm test`
 * tries other values; each failure reports the seed that reproduces it.
 *
 * Long work that runs in parts (lib/scheduling/parts.ts) must be deterministic. If it is not, tests
 * throw an error. A server instead runs the work again without pauses.
 */
import fc from 'fast-check'
import { unsteadyWork } from '../../../src/lib/scheduling/parts.ts'

const seed = process.env['KEELSON_SEED'] ?? '20261115'
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) })

unsteadyWork.report = (message) => {
  throw new Error(message)
}
