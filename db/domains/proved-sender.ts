/** Whether the project has proved the domain of a sender, in SQL. A domain can be lost after mail was accepted. */
export const isProvedSender = (projectId: string, from: string) => `exists (
	select from domains where project_id = ${projectId} and verified_at is not null
		and domain = lower(btrim(split_part(${from}, '@', -1))))`

export const lostSender = 'The sender’s domain is not verified any more'
