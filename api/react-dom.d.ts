// All that we use of it; its types are a package of their own.
declare module 'react-dom/server' {
	import type { ReactNode } from 'react'

	export function renderToStaticMarkup(element: ReactNode): string
}
