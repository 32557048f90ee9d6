import { findPackageJSON } from 'node:module'
import { dirname } from 'node:path'

/** The folder of package.json, found from the sources as well as from dist/. */
export const root = dirname(findPackageJSON('..', import.meta.url)!)
