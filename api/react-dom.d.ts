// The part that we use; its types would need another package.
declare module 'react-dom/server' {
	import type { ReactNode } from 'react'

	export function renderToStaticMarkup(element: ReactNode): string
}
