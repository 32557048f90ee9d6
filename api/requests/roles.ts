import type { Role } from '../../db/accounts/session.ts'
import { roles } from '../../db/projects/membership.ts'

/**
 * The permissions of sessions. USER: any logged-in user. The others are roles in the project in the path
 * (`:id`), each including those before it. Routes that also accept a secret key are listed only if they
 * require more than MEMBER; their project is in X-Project-Id.
 */
export const rolesOfRoutes: Record<string, 'USER' | Role> = {
	'POST /auth/request-verification': 'USER',
	'GET /users/@me': 'USER',
	'GET /users/@me/projects': 'USER',
	'POST /users/@me/projects': 'USER',

	'GET /users/@me/projects/:id/security': 'MEMBER',
	'GET /projects/:id/security': 'MEMBER',
	'GET /projects/:id/setup-state': 'MEMBER',
	'GET /projects/:id/members': 'MEMBER',
	'GET /projects/:id/invitations': 'MEMBER',

	'PATCH /users/@me/projects/:id': 'ADMIN',
	'POST /users/@me/projects/:id/regenerate-keys': 'ADMIN',
	'POST /users/@me/projects/:id/reset': 'ADMIN',
	'POST /users/@me/projects/:id/checkout': 'ADMIN',
	'POST /users/@me/projects/:id/billing-portal': 'ADMIN',
	'GET /users/@me/projects/:id/billing-limits': 'ADMIN',
	'PUT /users/@me/projects/:id/billing-limits': 'ADMIN',
	'GET /users/@me/projects/:id/billing-consumption': 'ADMIN',
	'GET /users/@me/projects/:id/billing-invoices': 'ADMIN',
	'POST /projects/:id/members': 'ADMIN',
	'PATCH /projects/:id/members/:userId': 'ADMIN',
	'DELETE /projects/:id/members/:userId': 'ADMIN',
	'DELETE /projects/:id/invitations/:invitationId': 'ADMIN',
	'POST /projects/:id/invitations/:invitationId/resend': 'ADMIN',
	'GET /projects/:id/webhook-secret': 'ADMIN',
	'POST /projects/:id/webhook-secret': 'ADMIN',
	'GET /projects/:id/audit': 'ADMIN',
	'POST /domains': 'ADMIN',
	'DELETE /domains/:id': 'ADMIN',
	'POST /webhook-endpoints': 'ADMIN',
	'PATCH /webhook-endpoints/:id': 'ADMIN',
	'DELETE /webhook-endpoints/:id': 'ADMIN',
	'POST /webhook-endpoints/:id/rotate-secret': 'ADMIN',
	'POST /webhook-endpoints/:id/test': 'ADMIN',
	'POST /webhook-endpoints/:id/replay': 'ADMIN',
	'DELETE /webhook-endpoints/:id/replay/:jobId': 'ADMIN',
	'POST /webhook-deliveries/:id/retry': 'ADMIN',

	'GET /projects/:id/system': 'OWNER',
	'DELETE /users/@me/projects/:id': 'OWNER',
}

export const includes = (role: Role, needed: Role) => roles.indexOf(role) >= roles.indexOf(needed)
