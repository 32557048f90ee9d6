import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The API that `npm run console` shows. */
const api = process.env['TEMPOST_URL'] ?? 'http://localhost:3000'

export default defineConfig({
	root: import.meta.dirname,
	base: '/console/',
	plugins: [react()],
	build: {
		target: 'es2023',
		// A frame of its own for mails, with a policy of its own.
		rolldownOptions: {
			input: ['index.html', 'mail-frame.html'].map((file) => `${import.meta.dirname}/${file}`),
			// What every page needs comes in one file: forty small ones took longer to ask for than to load.
			output: {
				codeSplitting: {
					groups: [
						{
							name: 'console',
							tags: ['$initial'],
							test: (id) => !/[\\/]console[\\/]mail-frame\./.test(id),
						},
					],
				},
			},
		},
		// Files in the page itself would need a weaker policy.
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		reportCompressedSize: false,
		chunkSizeWarningLimit: 1000,
	},
	server: {
		proxy: {
			'^/(?!console(?:/|$)|@|node_modules/).*': {
				target: api,
				headers: { origin: api },
			},
		},
	},
})
