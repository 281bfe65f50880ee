import type { ApiResponse } from '../../api/request.ts'

/** Releases what an answer holds that nobody gets. */
export function discard(response: ApiResponse): void {
  response.place?.leave()
  if ('frames' in response) response.frames.close()
}
