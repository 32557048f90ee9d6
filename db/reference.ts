type OnDelete = 'cascade' | 'set null' | 'no action'

/**
 * A foreign key. An entity declares its own in `static references`, by the names of properties, as it
 * declares its indexes. They are not MikroORM relations: those refer to primary keys, while ours include
 * the project and share its column. So nothing is loaded, ordered or cascaded because of them.
 */
export interface Reference {
	properties: readonly string[]
	table: string
	onDelete: OnDelete
	/** false: the triggers of db/references.sql check it. */
	isEnforced: boolean
}

/**
 * The last property refers to the id in the other table, or to the column of the same name; the others
 * refer to columns of their own names.
 */
export const reference = (
	properties: readonly string[],
	table: string,
	onDelete: OnDelete = 'no action',
	{ isEnforced = true } = {},
): Reference => ({ properties, table, onDelete, isEnforced })

const foreignKeyViolation = '23503'

/** Whether a row was to refer to one that does not exist, or was deleted at the same moment. */
export const isMissingReference = (error: unknown) =>
	(error as { code?: string }).code === foreignKeyViolation
