/**
 * Module types that the bundler resolves and TypeScript does not: single-file components (for eslint; vue-tsc knows
 * them) and styles.
 */
declare module '*.vue' {
  import type { DefineComponent } from 'vue'
  const component: DefineComponent<Record<string, unknown>, Record<string, unknown>, unknown>
  export default component
}
declare module '*.css' {}
/** Content of a file as text, inlined by the build. */
declare module '*?raw' {
  const text: string
  export default text
}
interface ImportMeta {
  /** Files that match a pattern, by path, inlined by the build. */
  glob<T>(
    pattern: string | readonly string[],
    options: { readonly query: '?raw'; readonly import: 'default'; readonly eager: true },
  ): Record<string, T>
}
