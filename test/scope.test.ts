import test, { type ExecutionContext } from 'ava'
import { poolOf, statement, statements } from '../db/statement.ts'
import { setupDatabase } from './helpers/database.ts'
import { loadStatements } from './helpers/load-statements.ts'
import { scopeChecker } from './helpers/scope.ts'

// Postgres plans every statement. The plan tells which rows it reaches and how.

/** Statements that reach rows of projects in other ways, and why they may. */
const reasons: Record<string, string[]> = {
	'sweeps and housekeeping are about all projects': [
		'automation-of-schedule',
		'count-pending-reports',
		'engagements-wait',
		'fold-engagements',
		'fold-old-campaign-tallies',
		'fold-segment-tallies',
		'fold-usage',
		'match-waiting-evidence',
		'record-domain-check',
		'open-campaigns',
		'overdue-closings',
		'overdue-executions',
		'pending-reports',
		'projects-to-judge',
		'recount-thin-fields',
		'remove-abandoned-executions',
		'remove-deleted-webhook-endpoints',
		'remove-done-outbox',
		'remove-ended-enrolments',
		'remove-ended-import-chunks',
		'remove-ended-import-files',
		'remove-ended-job-contacts',
		'remove-expired-idempotency_keys',
		'remove-expired-invitations',
		'remove-feed-entries-of-old-mails',
		'remove-members-of-deleted-segments',
		'remove-old-audit-entries',
		'remove-old-bodies',
		'remove-old-import-changes',
		'remove-old-job-errors',
		'remove-old-mailbox-messages',
		'remove-old-request-budgets',
		'remove-old-removed-contacts',
		'remove-old-restored-contacts',
		'remove-old-webhook-deliveries',
		'restart-cleanups',
		'subscribers',
		'take-due-domains',
		'take-due-segments',
		'unfinished-claims',
		'unfinished-enrolments',
		'unfinished-cleanups',
		'unfinished-jobs',
		'unfinished-removals',
		'unfinished-suspensions',
		'wanted-schedules',
	],
	'the mailbox shows the mails of all projects to the developer of this machine': [
		'count-mailbox-messages',
		'find-mailbox-messages',
		'list-mailbox-messages',
		'piece-of-source-of-mailbox-message',
		'source-of-mailbox-message',
		'summarise-mailbox-messages',
	],
	'the relay and the claims of sends take whatever waits, of whomever it is': [
		'claim-outbox',
		'claim-sends',
		'claim-webhooks',
		'soonest-scheduled-send',
		'free-projects-of-due-sends',
		'end-cleanup',
		'attempt-final-usage',
		'unmark-final-usage',
		'confirm-final-usage',
		'finish-claim',
		'free-run',
		'mails-of-claim',
		'mark-outbox-done',
		'mark-outbox-failed',
		'restart-claims',
	],
	'the visits of one execution, whose project is compared afterwards': [
		'finish-call',
		'outputs-of-execution',
	],
	'the mails of a campaign, which the same statement finds by its project': [
		'cancel-campaign-chunk',
		'claim-campaign-slice',
		'rest-of-campaign-lane',
		'waiting-in-campaign-lane',
	],
	'a domain may be verified in another project, which is all that is asked of it': [
		'add-domain',
		'is-provider-domain-used',
	],
	'a user has memberships and invitations in many projects': [
		'count-pending-domains',
		'find-invitation',
		'lock-invitation',
		'lock-administrator',
		'lock-own-projects',
		'projects-of-user',
		'release-projects',
	],
	'the link in a mail names the contact, and nobody can guess it': [
		'decide-subscription',
		'public-contact',
	],
	'what a contact has is found by the contact alone, who is of the project: no plan reads all of it':
		['begin-executions', 'event-since', 'find-contacts-that-may-enter', 'retry-executions'],
	'what comes from outside names a mail of the provider, a domain or a customer, and these tell the project':
		['lock-customer', 'receive-mail', 'settle-by-event'],
}
/** It uses a table that exists only in its own transaction. */
const unplannable = ['make-import-chunks']

async function setupChecker(t: ExecutionContext) {
	const orm = await setupDatabase(t)
	return scopeChecker(await poolOf(orm.em))
}

test('no statement reaches rows of projects but through their project', async (t) => {
	await loadStatements()
	const unbound = await setupChecker(t)
	const found: Record<string, string[]> = {}
	for (const [name, { text }] of statements) {
		if (unplannable.includes(name)) continue
		const tables = await unbound(text)
		if (tables.length > 0) found[name] = tables
	}
	t.true(statements.size > 300, `${statements.size}`)
	const allowed = Object.values(reasons).flat()
	for (const name of allowed) t.true(statements.has(name), `${name} is no more`)
	for (const name of allowed) delete found[name]
	t.deepEqual(found, {})
})

test('a statement that reaches into another project is noticed', async (t) => {
	const unbound = await setupChecker(t)
	const wrong: Record<string, string[]> = {
		'select email from contacts where id = $1': ['contacts'],
		'update emails set opens = opens + 1 where id = any($1::uuid[])': ['emails'],
		// Both belong to one project, but to which one?
		'select from contacts c join emails e on e.project_id = c.project_id where e.id = $1': [
			'contacts',
			'emails',
		],
		'delete from templates t using projects p where p.id = t.project_id and t.id = $1': [
			'templates',
		],
		'select (select count(*) from events e where e.contact_id = c.id) from contacts c where c.project_id = $1':
			['events'],
		'select from contacts where project_id <> $1 and id = $2': ['contacts'],
	}
	for (const [text, tables] of Object.entries(wrong))
		t.deepEqual((await unbound(text)).toSorted(), tables, text)
	for (const right of [
		'select email from contacts where project_id = $1 and id = $2',
		'select from contacts c join emails e on e.project_id = c.project_id where e.project_id = $1',
		'select from contacts c join projects p on p.id = c.project_id where p.public_key = $1',
		'with x as (select $1::uuid as project) select from segments s, x where s.project_id = x.project',
	])
		t.deepEqual(await unbound(right), [], right)
})

test('a name is used by one statement only', (t) => {
	statement('of a test', { params: {}, text: 'select 1' })
	t.notThrows(() => statement('of a test', { params: {}, text: 'select 1' }))
	t.throws(() => statement('of a test', { params: {}, text: 'select 2' }), {
		message: /Two statements/,
	})
})
