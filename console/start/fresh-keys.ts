// A secret key is shown once, when it is made. Until the page is left, the examples contain it.
const keys = new Map<string, string>()

export const keepFreshKey = (projectId: string, key: string) => keys.set(projectId, key)
/** After new ones were made: they are shown on the page of keys, once. */
export const forgetFreshKey = (projectId: string) => keys.delete(projectId)
export const freshKey = (projectId: string) => keys.get(projectId)
