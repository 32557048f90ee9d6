// Preloaded into the children of `npm start`. The channel to the parent closes when the parent dies, even
// by kill -9, so no child survives to run beside the next start.
if (process.channel) {
	process.once('disconnect', () => {
		process.kill(process.pid, 'SIGTERM')
		setTimeout(() => process.kill(process.pid, 'SIGKILL'), 20_000).unref()
	})
	process.channel.unref()
}
