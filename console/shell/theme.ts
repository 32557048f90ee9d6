export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** What this browser remembers; it stays after a log-out. */
export const themeName = 'tempost.theme'

export function chosenTheme(): Theme {
	const chosen = localStorage.getItem(themeName)
	return themes.find((theme) => theme === chosen) ?? 'system'
}

export function chooseTheme(theme: Theme) {
	localStorage.setItem(themeName, theme)
	applyTheme()
}

export function applyTheme() {
	document.documentElement.dataset['theme'] = chosenTheme()
}

/** Whether the page is shown in dark colours now. */
export const isDark = () =>
	chosenTheme() === 'dark' ||
	(chosenTheme() === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
