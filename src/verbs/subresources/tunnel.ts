/** A connection that is handed through: what one end says the other hears, until one of them hangs up. */
import { serviceUnavailable } from '../../api/errors.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'

export async function tunnel(url: URL, _http: ApiRequest, _method: string): Promise<ApiResponse> {
  throw serviceUnavailable(`error trying to reach service: ${url.host} cannot be reached yet`)
}
