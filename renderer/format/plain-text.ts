/** Text of a server or a user as it can be read; bundles write it the same way. */
export { maskedText, plainLines, plainText } from '#core/base/plain-text.ts'
