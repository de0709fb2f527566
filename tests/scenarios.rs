//! One behaviour per file; the file's name is the sentence.
