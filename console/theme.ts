// Before the first paint, so that the page does not flash in the other colours.
import { applyTheme } from './shell/theme.ts'

applyTheme()
