/**
 * Whether an answer, or the patch in it, can be decoded in one turn of the event loop. Its length
 * does not tell: a patch of 2 MB is one value of the answer, while 4 MB of empty warnings are more
 * than a million and take 230 ms.
 */
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { inSlices, type Steps } from '../../lib/scheduling/slices.ts'

/** Shorter answers are decoded in some ms, whatever they hold. */
const LENGTH_UNCHECKED = 64 << 10
/**
 * Decoded in some 15 ms. A webhook may send back the whole review, with both objects: few values of
 * an object have less than 20 characters.
 */
const VALUES_MAX = 100_000
/** Passed between two looks at the clock. */
const STEP_VALUES = 1_000

/** What is not JSON is left to the decoder. */
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
