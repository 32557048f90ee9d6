/** Wraps the same bytes: a Buffer arrives from another thread as a Uint8Array. */
export const bufferOf = (bytes: Uint8Array) =>
	Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
