import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { accountRoutes } from './accounts/account-routes.ts'
import { analyticsRoutes } from './analytics/analytics-routes.ts'
import { campaignRoutes } from './campaigns/campaign-routes.ts'
import { contactRoutes } from './contacts/contact-routes.ts'
import { domainRoutes } from './domains/domain-routes.ts'
import { emailRoutes } from './emails/email-routes.ts'
import { mailboxRoutes } from './mailbox/mailbox-routes.ts'
import { segmentRoutes } from './segments/segment-routes.ts'
import { settingsRoutes } from './settings/settings-routes.ts'
import { PageFault } from './shell/page-fault.tsx'
import { homeRoutes, projectRoute, rootRoute } from './shell/shell-routes.tsx'
import { startRoutes } from './start/start-routes.ts'
import { systemRoutes } from './system/system-routes.ts'
import { templateRoutes } from './templates/template-routes.ts'
import { webhookRoutes } from './webhooks/webhook-routes.ts'
import { workflowRoutes } from './workflows/workflow-routes.ts'

/** Every page. Filters and pages of lists are part of its address. */
const tree = rootRoute.addChildren([
	...homeRoutes,
	...accountRoutes,
	projectRoute.addChildren([
		...startRoutes,
		...emailRoutes,
		...contactRoutes,
		...segmentRoutes,
		...templateRoutes,
		...campaignRoutes,
		...workflowRoutes,
		...analyticsRoutes,
		...domainRoutes,
		...webhookRoutes,
		...mailboxRoutes,
		...settingsRoutes,
		...systemRoutes,
	]),
])

export const createConsoleRouter = (queries: QueryClient) =>
	createRouter({
		routeTree: tree,
		context: { queries },
		defaultErrorComponent: PageFault,
		defaultPreload: 'intent',
		defaultPreloadStaleTime: 0,
		scrollRestoration: true,
	})

declare module '@tanstack/react-router' {
	interface Register {
		router: ReturnType<typeof createConsoleRouter>
	}
}
