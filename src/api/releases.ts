/** The releases of Kubernetes that Keelson knows, by their minor version. */

/** Minor version of the release that Keelson serves. */
export const defaultMinor = 33

/** The oldest minor version that any release can emulate, as in kube-apiserver. */
export const oldestMinor = 31
