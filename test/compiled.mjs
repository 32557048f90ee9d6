// Imported into the process of each test file: it runs what test/compile.ts made of the file. Plain
// JavaScript, because to load what strips types takes 70 ms.
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

const sources = new URL('.', import.meta.url).href
const compiled = pathToFileURL(`${process.env['COMPILED_TESTS']}/test/`).href

registerHooks({
	resolve(specifier, context, next) {
		if (!specifier.startsWith(sources) || !/\.(?:test|drill)\.ts$/.test(specifier))
			return next(specifier, context)
		const name = specifier.slice(sources.length, -'.ts'.length)
		return { url: `${compiled}${name}.js`, format: 'module', shortCircuit: true }
	},
})
