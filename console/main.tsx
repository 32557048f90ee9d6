import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { followLogOut } from './accounts/log-out.ts'
import { createQueries } from './client.ts'
import { forgetAnswers } from './kept-answers.ts'
import { ConfirmProvider } from './parts/confirm.tsx'
import { nonce } from './parts/nonce.ts'
import { ToastProvider } from './parts/toast.tsx'
import { createConsoleRouter } from './routes.tsx'
import { markMissing } from './shell/page-fault.tsx'
import './styles/base.css'

const logIn = '/console/log-in'
const queries = createQueries(() => {
	const { pathname, href } = router.state.location
	if (pathname !== logIn) void router.navigate({ to: logIn, search: { next: href } })
})
const router = createConsoleRouter(queries)
// Not before: a page with unsaved changes may stay, and needs its answers.
router.subscribe('onBeforeLoad', ({ toLocation }) => {
	if (toLocation.pathname !== logIn) return
	queries.clear()
	forgetAnswers()
})
followLogOut()

createRoot(document.getElementById('root')!).render(
	<StrictMode>
		<CSPProvider nonce={nonce}>
			<QueryClientProvider client={queries}>
				<ToastProvider>
					<ConfirmProvider>
						<RouterProvider router={router} />
					</ConfirmProvider>
				</ToastProvider>
			</QueryClientProvider>
		</CSPProvider>
	</StrictMode>,
)

addEventListener('vite:preloadError', ({ payload }) => {
	markMissing(payload)
	void reloadAfterUpdate()
})

/** After an update the server has no parts of the old console any more: its page is loaded anew, and not in a circle. */
async function reloadAfterUpdate() {
	const name = 'tempost.reloaded'
	if (Date.now() - Number(sessionStorage.getItem(name)) < 10_000) return
	// While the server is away, the browser would show its own error instead of the console.
	const answer = await fetch('/console/icon.svg', { cache: 'no-store' }).catch(() => undefined)
	if (!answer?.ok) return
	sessionStorage.setItem(name, String(Date.now()))
	location.reload()
}
