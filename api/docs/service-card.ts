import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'

const packageJson = readFileSync(findPackageJSON('..', import.meta.url)!, 'utf8')

/** The version of the service, and so of its document. */
export const apiVersion = (JSON.parse(packageJson) as { version: string }).version

/** For programs that ask for the address of the service itself: what it is, and where to go on. */
export const serviceCard = (publicUrl: string) => ({
	name: 'Tempost',
	version: apiVersion,
	docs: `${publicUrl}/docs`,
	openapi: `${publicUrl}/openapi.json`,
	health: `${publicUrl}/health`,
})

/** Browsers ask for HTML by name. A program that accepts anything gets JSON. */
export const asksForHtml = (accept: string | undefined) =>
	accept !== undefined && /(^|,)\s*text\/html\s*(;(?!\s*q=0(\.0*)?\s*(,|$))|,|$)/i.test(accept)
