import { ApplicationFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import test from 'ava'
import { permanently } from '../activities/permanence.ts'

const isTriedAgain = async (code: string, attempt: number) => {
	const work = () => permanently(() => Promise.reject(Object.assign(new Error('no'), { code })))
	const error = await new MockActivityEnvironment({ attempt }).run(work).then(
		() => null,
		(error: unknown) => error,
	)
	return !(error instanceof ApplicationFailure && error.nonRetryable === true)
}

test('a reference to a row deleted at this moment is retried, one to a missing row fails', async (t) => {
	t.true(await isTriedAgain('23503', 1))
	t.true(await isTriedAgain('23503', 4))
	t.false(await isTriedAgain('23503', 5))
})

test('a fault that the same statement would meet again is not retried', async (t) => {
	for (const code of ['22003', '23514', '54000']) t.false(await isTriedAgain(code, 1), code)
	for (const code of ['23505', '40P01', '57014', '08006']) t.true(await isTriedAgain(code, 9), code)
})
