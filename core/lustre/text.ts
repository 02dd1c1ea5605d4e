/**
 * Text from servers is bytes. A Lustre job id may contain any of them and is not always valid UTF-8, so command output is carried as a
 * byte string: one char code 0..255 per byte. Nothing is lost and V8 keeps it at one byte a character.
 */
export type ByteText = string

/** Unreadable line, with its number (from 1) and the reason. The rest of the text is kept. */
export interface SkippedLine {
  readonly line: number
  readonly reason: string
}
