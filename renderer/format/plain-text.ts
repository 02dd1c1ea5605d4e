/** Safe display of text from servers and users; bundles use the same functions. */
export { maskedText, plainLines, plainText } from '#core/base/plain-text.ts'
