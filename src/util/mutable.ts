/** The same fields, writable: for the one who makes an object that everybody else only reads. */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
