/** Callers who may track events can give a contact more. */
const mostNames = 1000

/**
 * The list `stepped (name)` for a recursive WITH: the names of a contact's events. The index orders them by name, then by
 * time. This steps from name to name, so a contact with a million events costs no more than one with a hundred. Each step
 * costs as much as reading dozens of events, so it ends after too many. All events of the contact are read then.
 */
export const namesOfContact = `names as (
		(select name from events where project_id = $projectId
			and contact_id = $contactId::uuid order by name limit 1)
		union all
		select (select e.name from events e where e.project_id = $projectId
			and e.contact_id = $contactId::uuid
			and e.name > names.name order by e.name limit 1)
		from names where names.name is not null
	), stepped as materialized (
		select name from names where name is not null limit ${mostNames + 1}
	)`

export const hasTooManyNames = `(select count(*) > ${mostNames} from stepped)`
