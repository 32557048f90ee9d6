export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const name = 'tempost.theme'

export function chosenTheme(): Theme {
	const chosen = localStorage.getItem(name)
	return themes.find((theme) => theme === chosen) ?? 'system'
}

export function chooseTheme(theme: Theme) {
	localStorage.setItem(name, theme)
	applyTheme()
}

export function applyTheme() {
	document.documentElement.dataset['theme'] = chosenTheme()
}

/** Whether the page is shown in dark colours now. */
export const isDark = () =>
	chosenTheme() === 'dark' ||
	(chosenTheme() === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
