/**
 * For `static storage` of the tables that conditions look a contact up in: a contact has few of their rows,
 * whatever a sample says. A sample that finds only the rows of one test contact, while a campaign is being
 * written, would otherwise make the planner read the whole table once for each contact.
 */
export const fewPerContact = 'alter column contact_id set (n_distinct = -0.2)'

/** The same for a table in partitions, which has statistics of its own. */
export const fewPerContactInAll = 'alter column contact_id set (n_distinct_inherited = -0.2)'
