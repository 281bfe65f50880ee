import type { ApiResponse } from '../../api/request.ts'

/** Releases what a response holds that no client receives. */
export function discard(response: ApiResponse): void {
  response.place?.leave()
  if ('frames' in response) response.frames.close()
}
