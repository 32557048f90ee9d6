// `npm run build`
import { build } from './build.ts'

await build()
