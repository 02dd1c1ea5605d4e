/** What the bundler resolves and TypeScript cannot: single-file components (for eslint; vue-tsc knows them) and styles. */
declare module '*.vue' {
  import type { DefineComponent } from 'vue'
  const component: DefineComponent<Record<string, unknown>, Record<string, unknown>, unknown>
  export default component
}
declare module '*.css' {}
/** A file as its text, put into the build. */
declare module '*?raw' {
  const text: string
  export default text
}
interface ImportMeta {
  /** Files of a pattern, by path, put into the build. */
  glob<T>(
    pattern: string | readonly string[],
    options: { readonly query: '?raw'; readonly import: 'default'; readonly eager: true },
  ): Record<string, T>
}
