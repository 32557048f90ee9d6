/** The same bytes: beyond the border of a thread a Buffer is a Uint8Array. */
export const bufferOf = (bytes: Uint8Array) =>
	Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
