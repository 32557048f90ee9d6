import { MikroORM } from '@mikro-orm/postgresql'
import config from './config.ts'
import { liftSuspension } from './reputation/suspending.ts'
import { poolOf } from './statement.ts'

// What nobody may do by the API: npm run operator -- enable PROJECT_ID

const usage = 'Usage: npm run operator -- enable PROJECT_ID'

async function main([command, projectId, ...more]: string[]) {
	if (command !== 'enable' || !isUuid(projectId) || more.length > 0) return [usage, 2] as const
	const orm = await MikroORM.init(config)
	try {
		const [project] = await liftSuspension(await poolOf(orm.em), [projectId])
		if (!project) return [`There is no project ${projectId}`, 1] as const
		const { name, reason, isLifted } = project
		if (isLifted) return [`${name} is enabled again; it was disabled: ${reason}`, 0] as const
		if (reason === null) return [`${name} is not disabled`, 0] as const
		return [`${name} waits for a payment, which will enable it`, 1] as const
	} finally {
		await orm.close()
	}
}

const isUuid = (text = '') => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)

const [message, code] = await main(process.argv.slice(2))
process.stdout.write(`${message}\n`)
process.exitCode = code
