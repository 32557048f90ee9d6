import { useSyncExternalStore } from 'react'
import { isDark } from '../shell/theme.ts'

const dark = matchMedia('(prefers-color-scheme: dark)')

/** `dark` or `light`; tells when it changes, for what is drawn and not styled. */
export const useColours = () =>
	useSyncExternalStore(follow, () => (isDark() ? ('dark' as const) : ('light' as const)))

function follow(tell: () => void) {
	const observer = new MutationObserver(tell)
	observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
	dark.addEventListener('change', tell)
	return () => {
		observer.disconnect()
		dark.removeEventListener('change', tell)
	}
}
