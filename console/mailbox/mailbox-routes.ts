import { createRoute } from '@tanstack/react-router'
import { textParam } from '../parts/text-param.ts'
import { projectRoute } from '../shell/shell-routes.tsx'

/** The list of the mailbox keeps its search in the address, whichever mail is open beside it. */
const readSearch = ({ search }: Record<string, unknown>): { search?: string | undefined } => ({
	search: textParam(search),
})

const mailbox = createRoute({
	getParentRoute: () => projectRoute,
	path: 'mailbox',
	validateSearch: readSearch,
}).lazy(() => import('./mailbox-page.tsx').then(({ page }) => page))

const nothingOpen = createRoute({
	getParentRoute: () => mailbox,
	path: '/',
}).lazy(() => import('./nothing-open.tsx').then(({ page }) => page))

const message = createRoute({
	getParentRoute: () => mailbox,
	path: '$messageId',
}).lazy(() => import('./message-page.tsx').then(({ page }) => page))

export const mailboxRoutes = [mailbox.addChildren([nothingOpen, message])] as const
