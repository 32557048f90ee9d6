import type { EntityManager, InferKyselyDB } from '@mikro-orm/postgresql'
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { stepSchema } from './automations/automation-step.ts'
import type { transitionSchema } from './automations/automation-transition.ts'
import type { versionSchema } from './automations/automation-version.ts'
import type { automationSchema } from './automations/automation.ts'
import type { billingAccountSchema } from './billing/billing-account.ts'
import type { campaignSchema } from './campaigns/campaign.ts'
import type { projectSchema } from './projects/project.ts'
import type { suppressionSchema } from './reputation/suppression.ts'
import type { segmentSchema } from './segments/segment.ts'
import type { templateSchema } from './templates/template.ts'

const options = { columnNamingStrategy: 'property', convertValues: true } as const

type Schemas =
	| typeof automationSchema
	| typeof billingAccountSchema
	| typeof campaignSchema
	| typeof projectSchema
	| typeof segmentSchema
	| typeof stepSchema
	| typeof suppressionSchema
	| typeof templateSchema
	| typeof transitionSchema
	| typeof versionSchema
type Tables = InferKyselyDB<Schemas, typeof options>

/**
 * MikroORM's Kysely builder for queries that read or write one record, typed by the entities. Its values are
 * parameters. The entity manager puts them into the text of a query, which Postgres logs if the query fails.
 * In a change, a column whose value is undefined keeps its value.
 */
export const tables = (em: EntityManager) => em.getKysely<Tables>(options)

export type Row<Table extends keyof Tables> = Selectable<Tables[Table]>
export type NewRow<Table extends keyof Tables> = Insertable<Tables[Table]>
export type Changes<Table extends keyof Tables> = Updateable<Tables[Table]>

/** By the clock of the database. */
export const now = sql<Date>`now()`
