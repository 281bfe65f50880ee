/**
 * Checks whether a response, or the patch in it, can be decoded in one tick of the event loop. The
 * length is not enough to decide: a patch of 2 MB can be a single value, while 4 MB of empty
 * warnings are more than a million values and take 230 ms.
 */
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { inSlices, type Steps } from '../../lib/scheduling/slices.ts'

/**
 * Maximum length of a response that is decoded without a check, because decoding it takes only a
 * few milliseconds.
 */
const LENGTH_UNCHECKED = 64 << 10
/**
 * Maximum number of values in a response. Decoding this many values takes about 15 ms. Even a
 * response that repeats the whole review has fewer values, because most values in an object have at
 * least 20 characters.
 */
const VALUES_MAX = 100_000
/** Number of values between two checks of the clock. */
const STEP_VALUES = 1_000

/**
 * Resolves to whether JSON has too many values. Invalid JSON is accepted, because the decoder will
 * reject it.
 */
export async function hasTooManyValues(json: string): Promise<boolean> {
  if (json.length <= LENGTH_UNCHECKED) return false
  try {
    return await inSlices(countValues(new JsonScanner(json)))
  } catch (error) {
    if (error instanceof JsonSyntaxError) return false
    throw error
  }
}

function* countValues(scanner: JsonScanner): Steps<boolean> {
  const open: boolean[] = []
  for (let values = 0; values <= VALUES_MAX; values += STEP_VALUES) {
    if (scanner.skipPart(open, STEP_VALUES)) return false
    yield undefined
  }
  return true
}
