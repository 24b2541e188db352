//! The rules, one row a rule: its name, the section of the specification, what that says.
//!
//! Sections are those of the unified SPIR-V 1.6 specification, revision 2 and later; `VUID`
//! numbers are those of Vulkan's appendix "Vulkan Environment for SPIR-V" (the digits after
//! `VUID-…-`), `GLSL` the specification of GLSL.std.450.

use std::fmt;

/// What part of a module a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Group {
    /// The binary form, the ids and the order of instructions: holds for any SPIR-V, whatever
    /// it declares.
    Form,
    /// What the module declares, and what it means: an extension that this validator does not
    /// know could change it.
    Meaning,
    /// A rule of the specification that SPIRV-Tools 2025.5 does not check; off with
    /// [`Options::beyond_spirv_val`](super::Options::beyond_spirv_val).
    Beyond,
}

macro_rules! rules {
    ($( $group:ident { $( $variant:ident $name:literal $section:literal $says:literal; )* } )*) => {
        /// A rule that modules are checked against.
        ///
        /// The variants' documentation is the text that faults show. [`Rule::ALL`] lists them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $($( #[doc = concat!("`", $name, "` (", $section, "): ", $says, ".")] $variant, )*)*
        }

        impl Rule {
            /// Every rule, in the order of this page.
            pub const ALL: &'static [Rule] = &[ $($( Rule::$variant, )*)* ];

            /// The name that faults are printed with, such as `phi-parents`.
            pub fn name(self) -> &'static str {
                match self { $($( Rule::$variant => $name, )*)* }
            }

            /// Where the specification says so, such as `§2.16.1` or `VUID 04682`.
            pub fn section(self) -> &'static str {
                match self { $($( Rule::$variant => $section, )*)* }
            }

            /// What the specification says.
            pub fn says(self) -> &'static str {
                match self { $($( Rule::$variant => $says, )*)* }
            }

            /// What the rule is about.
            pub fn group(self) -> Group {
                match self { $($( Rule::$variant => Group::$group, )*)* }
            }
        }
    };
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

rules! {
Form {
    ByteLength "byte-length" "§2.3" "a module is a sequence of 32-bit words: its length is a multiple of 4";
    HeaderLength "header-length" "§2.3" "a module begins with a header of five words";
    Magic "magic" "§2.3" "the first word is the magic number 0x07230203, in the byte order of the module";
    Version "version" "§2.3" "the version word is 0 | major | minor | 0, from 1.0 up to what the environment takes (Vulkan 1.0: 1.0, 1.1: 1.3, 1.2: 1.5, 1.3: 1.6)";
    Bound "bound" "§2.3, §2.17" "the bound is at least 1 and at most 4,194,303 + 1";
    Schema "schema" "§2.3" "the fifth word is reserved and 0";
    WordCount "word-count" "§2.3" "an instruction's word count is at least 1 and does not pass the end of the module";
    Opcode "opcode" "§3.49" "an opcode is one of the grammar's";
    OperandMissing "operand-missing" "§3.49" "an instruction has all its required operands";
    OperandExtra "operand-extra" "§3.49" "an instruction has no more words than its operands take";
    Enumerant "enumerant" "§3" "an enumerant or mask bit is one of the grammar's";
    StringEnd "string-end" "§2.2.1" "a literal string ends with a NUL inside its instruction: truncated literal string";
    LiteralType "literal-type" "§2.2.1" "a literal's type is a known integer or floating-point type";
    LiteralBits "literal-bits" "§2.2.1" "the unused high bits of a narrow literal are 0, or the sign bit of a signed type";
    ExtInstNumber "ext-inst-number" "§2.2.1" "an extended instruction's number is one of its set's";
    ExtInstSet "ext-inst-set" "OpExtInst" "the set is the result of an OpExtInstImport";
    ExtInstImport "ext-inst-import" "OpExtInstImport" "an imported set is one that is known, or non-semantic";
    NonSemanticVersion "non-semantic-version" "SPV_KHR_non_semantic_info" "a non-semantic set needs SPIR-V 1.6 or SPV_KHR_non_semantic_info";
    SpecOp "spec-op" "OpSpecConstantOp" "the opcode is one that OpSpecConstantOp lists";
    IdZero "id-zero" "§2.2.1" "an id is not 0";
    IdBound "id-bound" "§2.3" "an id is less than the bound";
    IdUnique "id-unique" "§2.16.1" "a result id is defined once";
    IdDefined "id-defined" "§2.16.1" "every id that is used is defined";
    IdOrder "id-order" "§2.16.1" "an id is defined before it is used, where it is no forward reference";
    IdIsType "id-is-type" "§2.16.1" "a result type is the id of a type";
    IdIsValue "id-is-value" "§2.16.1" "an operand that is a value is neither a type nor an id without a type";
    NonSemanticUse "non-semantic-use" "SPV_KHR_non_semantic_info" "a semantic instruction uses no result of a non-semantic one";
    Layout "layout" "§2.4" "instructions stand in the order of the sections of a module";
    MemoryModelOnce "memory-model" "§2.4" "a module has exactly one OpMemoryModel, before all that follows it in the order";
    FunctionNested "function-nested" "§2.4" "a function is defined outside of other functions";
    FunctionOpen "function-open" "§2.4" "a function ends with OpFunctionEnd";
    FunctionParts "function-parts" "§2.4" "a function is OpFunction, its parameters, its blocks, OpFunctionEnd";
    BlockOpen "block-open" "§2.2.5" "a block begins with OpLabel and ends with a termination instruction";
    InBlock "in-block" "§2.4" "this instruction stands in a block";
    ExtInstPlace "ext-inst-place" "§2.4" "a semantic extended instruction stands in a block, a non-semantic one among the types or in a block";
    FunctionBody "function-body" "§2.16.1" "a function without a body is imported by a LinkageAttributes decoration";
}
Meaning {
    Capability "capability" "§3.31" "an instruction or enumerant needs one of these capabilities";
    CapabilityVulkan "capability-vulkan" "VUID 08740" "the environment allows the capability, or an extension enables it";
    Extension "extension" "§3" "an instruction or enumerant needs one of these extensions";
    VersionNeeded "version-needed" "§3" "an instruction or enumerant needs this version";
    VersionRemoved "version-removed" "§3" "an instruction or enumerant is not in this version any more";
    IdBoundLimit "limits" "§2.17" "a module stays within the universal limits";
    DebugMember "debug-member" "OpMemberName" "a named member is one of a structure";
    DebugFile "debug-file" "OpLine" "a file is the result of an OpString";
    // Control flow
    EntryBlock "entry-block" "§2.16.1" "a function's first block is no branch's target";
    BranchTarget "branch-target" "§2.16.1" "a branch goes to a label of its own function";
    BlockOrder "block-order" "§2.16.1" "a block stands after its immediate dominator";
    Dominance "dominance" "§2.16.1" "a definition dominates its uses";
    OtherFunction "other-function" "§2.16.1" "an id of a function's body is used in that body alone";
    MergePlace "merge-place" "§2.16.2" "a merge instruction is the second-to-last instruction of its block, before the branch that it allows";
    MergeUnique "merge-unique" "§2.16.2" "a block is the merge block of one header";
    MergeTarget "merge-target" "§2.11.1" "a merge block and a continue target are labels, differ, and the merge block is not the header";
    MergeDominated "merge-dominated" "§2.16.2" "a header structurally dominates its merge block, strictly";
    ContinueDominated "continue-dominated" "§2.16.2" "a loop header structurally dominates its continue target, and that its back-edge block";
    ContinuePostDominated "continue-post-dominated" "§2.16.2" "a continue target is structurally post-dominated by the back-edge block";
    BackEdge "back-edge" "§2.16.2" "a back edge goes to a loop header";
    BackEdgeUnique "back-edge-unique" "§2.16.2" "exactly one back edge goes to a loop header";
    ConstructExit "construct-exit" "§2.11.1" "control leaves a construct by its structured exits alone";
    ConstructEntry "construct-entry" "§2.11.1" "control enters a construct by its header alone";
    ContinueFromLoop "continue-from-loop" "§2.11.1" "a branch to a continue target comes from its loop or is its back edge";
    SelectionMerge "selection-merge" "§2.16.2" "a conditional branch that is no exit, and every switch, follows a merge instruction";
    SwitchCase "switch-case" "§2.16.2" "a switch header structurally dominates its cases";
    SwitchFallThrough "switch-fall-through" "§2.16.2" "a case falls through to the next case of the list alone, and each case is fallen into once";
    NestingDepth "nesting-depth" "§2.17" "control flow nests no deeper than 1023";
    BranchCondition "branch-condition" "OpBranchConditional" "the condition is a boolean scalar";
    BranchWeights "branch-weights" "OpBranchConditional" "there are no branch weights or two";
    BranchSame "branch-same" "OpBranchConditional" "from SPIR-V 1.6 on the two labels differ";
    SwitchSelector "switch-selector" "OpSwitch" "the selector is an integer scalar";
    SwitchLimit "switch-limit" "§2.17" "a switch has at most 16,383 cases";
    LoopControl "loop-control" "§3.23" "loop controls do not contradict each other";
    PhiPlace "phi-place" "OpPhi" "a phi stands before all but phis and lines in a block that is not the entry block";
    PhiParents "phi-parents" "OpPhi" "a phi has exactly one pair for each predecessor";
    PhiType "phi-type" "OpPhi" "each value has the type of the phi";
    PhiResult "phi-result" "OpPhi" "a phi's type is not void, nor an image, sampler or, without variable pointers, a pointer";
    PhiDominance "phi-dominance" "§2.16.1" "a phi's value dominates the parent it is paired with";
    ReturnType "return-type" "OpReturnValue" "the value returned has the function's return type; OpReturn is for void functions";
    // Types
    TypeUnique "type-unique" "§2.8" "two type ids are two types: no non-aggregate type is declared twice";
    TypeInt "type-int" "OpTypeInt" "an integer is 8, 16, 32 or 64 bits wide, its signedness 0 or 1, and what its width needs is declared";
    TypeFloat "type-float" "OpTypeFloat" "a float is 16, 32 or 64 bits wide, and what its width needs is declared";
    TypeVector "type-vector" "OpTypeVector" "a vector has 2, 3 or 4 scalar components";
    TypeMatrix "type-matrix" "OpTypeMatrix" "a matrix has 2, 3 or 4 columns that are floating-point vectors";
    TypeArray "type-array" "OpTypeArray" "an array's element is a type other than void, and no runtime array in Vulkan";
    TypeArrayLength "type-array-length" "OpTypeArray" "an array's length is an integer constant of at least 1";
    TypeStruct "type-struct" "OpTypeStruct" "a structure's members are types, but void, itself or, in Vulkan, opaque";
    TypeRuntimeMember "type-runtime-member" "VUID 04680" "a runtime array is the last member of a Block or BufferBlock structure";
    TypeNestedBlock "type-nested-block" "§2.16.2" "no Block or BufferBlock contains another";
    TypeFunction "type-function" "OpTypeFunction" "parameters are not void, and a function type is used by functions alone";
    TypePointer "type-pointer" "OpTypePointer" "the storage class is one of the environment's, the pointee a type";
    TypeForward "type-forward" "OpTypeForwardPointer" "a forward pointer names a physical storage buffer pointer to a structure";
    TypeImage "type-image" "OpTypeImage" "an image type's operands are in range and fit each other";
    TypeSampledImage "type-sampled-image" "OpTypeSampledImage" "a sampled image's image is sampled and neither a subpass nor, from 1.6 on, a buffer";
    TypeCooperativeMatrix "type-cooperative-matrix" "OpTypeCooperativeMatrixKHR" "component, scope, rows, columns and use are a numeric type and constants";
    NarrowUse "narrow-use" "§2.16.3" "8- and 16-bit values are only loaded, stored, copied and converted, where their arithmetic is not declared";
    // Constants
    ConstantBool "constant-bool" "OpConstantTrue" "a boolean constant's type is bool";
    ConstantComposite "constant-composite" "OpConstantComposite" "the constituents are constants whose number and types are the type's";
    ConstantNull "constant-null" "OpConstantNull" "the type can be null";
    SpecConstantOp "spec-constant-op" "OpSpecConstantOp" "the operation is allowed under the module's capabilities, its operands are constants";
    // Operations
    ResultType "result-type" "§3.49" "the result type is of the kind that the instruction yields";
    OperandType "operand-type" "§3.49" "an operand has the type that the instruction takes";
    OperandShape "operand-shape" "§3.49" "an operand has the components and width that the instruction takes";
    BitWidth32 "bit-width-32" "VUID 10824" "in Vulkan bit instructions take 32-bit integers";
    CompositeIndex "composite-index" "OpCompositeExtract" "the indices lead to a member that exists, at most 255 of them";
    CompositeConstruct "composite-construct" "OpCompositeConstruct" "the constituents make up the result type";
    CompositeType "composite-type" "OpCompositeExtract" "the type that the indices lead to is the one that is given";
    Shuffle "shuffle" "OpVectorShuffle" "components are below the two vectors' sum or 0xFFFFFFFF, as many as the result has";
    CopyLogical "copy-logical" "OpCopyLogical" "the types differ and match logically";
    SelectTypes "select-types" "OpSelect" "condition and objects fit the result type";
    Convert "convert" "§3.49.11" "a conversion's types differ in width as it requires and have the same components";
    Bitcast "bitcast" "OpBitcast" "both types are numeric or pointers, and have the same number of bits";
    ExtInstTypes "ext-inst-types" "GLSL" "operands and result of a GLSL.std.450 instruction have the types that it takes";
    FunctionType "function-type" "OpFunction" "a function's type, result type and parameters agree";
    FunctionUse "function-use" "OpFunction" "a function's id is used by calls, entry points, names and decorations alone";
    CallTypes "call-types" "OpFunctionCall" "a call's function, result type and arguments agree";
    CallPointer "call-pointer" "§2.16.1" "a pointer argument is a memory object of a storage class that may be passed";
    Recursion "recursion" "§2.16.1" "no entry point's static call graph has a cycle";
    EntryPointCalled "entry-point-called" "§2.16.1" "an entry point is not called";
    // Memory
    VariablePlace "variable-place" "OpVariable" "function variables come first in the entry block; only they are declared in functions";
    VariableType "variable-type" "OpVariable" "the result type is a pointer of the variable's storage class";
    VariableInitializer "variable-initializer" "OpVariable" "an initializer is a constant of the pointee's type, where the storage class allows one";
    VariableStorage "variable-storage" "VUID 04643" "the environment has the storage class, and variables may have it";
    VariablePointee "variable-pointee" "VUID 06807" "what a variable holds is allowed in its storage class";
    VariableBool "variable-bool" "§2.16.1" "a boolean is in no externally visible storage class";
    VariablePointer "variable-pointer" "§2.16.1" "a variable holds a pointer only with the capabilities that allow it";
    PushConstantOnce "push-constant-once" "VUID 06674" "an entry point uses one push-constant block";
    LogicalPointer "logical-pointer" "§2.16.1" "a pointer that is accessed comes from an instruction that may yield one";
    PointerValue "pointer-value" "§2.16.1" "a logical pointer is the result or operand of the instructions alone that the capabilities allow";
    LoadType "load-type" "OpLoad" "a load's result is the pointee's type";
    StoreType "store-type" "OpStore" "a store's object has the pointee's type";
    StoreReadOnly "store-read-only" "OpStore" "the storage class can be written to";
    MemoryOperands "memory-operands" "§3.26" "memory operands fit each other, the pointer and the instruction";
    PointerAlignment "pointer-alignment" "VUID 06314" "physical pointers are accessed with an alignment that fits what they point to";
    AccessChain "access-chain" "OpAccessChain" "the indices are integers that lead from the base to the result's pointee, at most 255 of them";
    AccessChainStorage "access-chain-storage" "OpAccessChain" "the result has the base's storage class";
    AccessChainIndex "access-chain-index" "OpAccessChain" "an index into a structure is a constant that names a member, and no index is negative";
    PtrAccessChain "ptr-access-chain" "OpPtrAccessChain" "the base has an ArrayStride and a storage class that allows pointer arithmetic";
    ArrayLength "array-length" "OpArrayLength" "the structure's last member is a runtime array, the member index names it, the result is unsigned";
    CopyMemory "copy-memory" "OpCopyMemory" "source and target point to the same type";
    PointerCompare "pointer-compare" "OpPtrEqual" "pointers are compared as the capabilities allow";
    ImageTexelPointer "image-texel-pointer" "OpImageTexelPointer" "the pointer leads to an image texel of the result's type";
    // Atomics, scopes, barriers
    ScopeId "scope" "§3.27" "a scope is a 32-bit integer constant that names a scope";
    ExecutionScope "execution-scope" "VUID 04636" "in Vulkan an execution scope is Workgroup or Subgroup";
    GroupScope "group-scope" "VUID 04642" "in Vulkan the scope of a group operation is Subgroup";
    MemoryScope "memory-scope" "VUID 04638" "in Vulkan a memory scope is Device, QueueFamily, Workgroup, Subgroup or Invocation";
    DeviceScope "device-scope" "§2.16.1" "under the Vulkan model Device scope needs VulkanMemoryModelDeviceScope, and QueueFamily that model";
    Semantics "semantics" "§3.25" "memory semantics are a 32-bit integer constant";
    SemanticsOrder "semantics-order" "VUID 10865" "memory semantics have at most one order, not SequentiallyConsistent in Vulkan";
    SemanticsClass "semantics-class" "VUID 10870" "an order has a storage class and a storage class has an order";
    SemanticsAtomic "semantics-atomic" "VUID 10867" "the order is one that the instruction can have";
    SemanticsUnequal "semantics-unequal" "VUID 10875" "the unequal semantics are no stronger than the equal ones";
    SemanticsBits "semantics-bits" "§3.25" "availability, visibility and volatile need the Vulkan model and the order that they go with";
    SemanticsInvocation "semantics-invocation" "VUID 04641" "Invocation scope goes with relaxed order";
    AtomicType "atomic-type" "§3.49.18" "an atomic's result, pointee and value are one scalar type that it takes";
    AtomicStorage "atomic-storage" "VUID 04686" "an atomic's pointer is in a storage class that atomics reach";
    AtomicCapability "atomic-capability" "§3.49.18" "an atomic of this type needs its capability";
    GroupOperands "group-operands" "§3.49.21" "a group operation's operands have the types and constants that it takes";
    ClusterSize "cluster-size" "§3.49.21" "ClusterSize is an unsigned integer constant, present with ClusteredReduce";
    // Entry points and modes
    EntryPointFunction "entry-point" "OpEntryPoint" "an entry point is a function without parameters that returns void";
    EntryPointName "entry-point-name" "OpEntryPoint" "no two entry points have the same name and model";
    EntryPointMissing "entry-point-missing" "§2.16.1" "a module without the Linkage capability has an entry point";
    InterfaceVariable "interface-variable" "OpEntryPoint" "an interface lists variables of the storage classes that its version allows, each once";
    InterfaceMissing "interface-missing" "OpEntryPoint" "an interface lists every variable that the entry point's call tree uses";
    InterfaceBuiltIn "interface-builtin" "VUID 09658" "an entry point has one variable of a built-in";
    ModeTarget "mode-target" "OpExecutionMode" "the target is an entry point";
    ModeOpcode "mode-opcode" "OpExecutionModeId" "modes with id operands are set by OpExecutionModeId, others by OpExecutionMode";
    ModeOnce "mode-once" "§2.16.1" "a mode is set once for an entry point";
    LocalSize "local-size" "VUID 10685" "a compute entry point has a size, LocalSize, LocalSizeId or WorkgroupSize";
    LocalSizeProduct "local-size-product" "§3.6" "no dimension of the workgroup is 0";
    LocalSizeIdEnv "local-size-id" "VUID 06433" "LocalSizeId needs Vulkan 1.3 or maintenance4";
    AddressingModel "addressing-model" "VUID 04635" "in Vulkan the addressing model is Logical or PhysicalStorageBuffer64";
    MemoryModelPair "memory-model-pair" "§2.16.1" "the Vulkan memory model and its capability go together";
    // Decorations
    DecorationTarget "decoration-target" "§3.20" "the decoration applies to what it decorates";
    DecorationMember "decoration-member" "§3.20" "the decoration is one for members, or not, and the member exists";
    DecorationOnce "decoration-once" "§2.16.1" "an id or member has a decoration once";
    DecorationConflict "decoration-conflict" "§3.20" "the decorations of an id or member do not exclude each other";
    DecorationOpcode "decoration-opcode" "OpDecorateId" "decorations with id operands are set by OpDecorateId, others by OpDecorate";
    DecorationStorage "decoration-storage" "VUID 06491" "the decoration is allowed in the variable's storage class";
    DecorationModel "decoration-model" "VUID 04669" "the environment and the memory model have the decoration";
    ResourceBinding "resource-binding" "VUID 06677" "a resource variable has a DescriptorSet and a Binding";
    BlockMissing "block-missing" "VUID 06675" "a buffer's structure is decorated Block, or BufferBlock in Uniform";
    LayoutOffset "layout-offset" "§2.16.2" "every member of an explicitly laid out structure has an Offset";
    LayoutStride "layout-stride" "§2.16.2" "every array of an explicitly laid out structure has an ArrayStride that holds its element";
    LayoutMatrix "layout-matrix" "§2.16.2" "every matrix of an explicitly laid out structure has a MatrixStride and an order";
    LayoutAlignment "layout-alignment" "VUID 06667" "offsets and strides are multiples of what the block layout requires";
    LayoutOverlap "layout-overlap" "§2.16.2" "members do not overlap";
    LayoutStraddle "layout-straddle" "VUID 06667" "no vector straddles a 16-byte boundary improperly";
    LayoutForbidden "layout-forbidden" "VUID 10684" "layout decorations are in storage classes that have a layout";
    WorkgroupBlock "workgroup-block" "SPV_KHR_workgroup_memory_explicit_layout" "Block structures in Workgroup need the capability, and all variables or none";
    BuiltInTarget "builtin-target" "§3.21" "a BuiltIn decorates a variable or member, WorkgroupSize a constant";
    BuiltInType "builtin-type" "§3.21, Vulkan" "the built-in has the type that the environment gives it";
    BuiltInStorage "builtin-storage" "§3.21, Vulkan" "the built-in is in the storage class that the environment gives it";
    // Images
    ImageOperands "image-operands" "§3.14" "image operands fit each other, the image and the instruction";
    ImageType "image-type" "§3.49.10" "the image has the dimension, sampling and format that the instruction takes";
    ImageCoordinate "image-coordinate" "§3.49.10" "the coordinate has the type and components that the image takes";
    ImageResult "image-result" "§3.49.10" "the result or texel is a vector of the image's sampled type";
    SampledImageUse "sampled-image-use" "OpSampledImage" "a sampled image is consumed in the block that makes it, by image instructions";
    ImplicitLod "implicit-lod" "§3.49.10" "implicit level of detail and derivatives need a fragment shader or derivative groups";
}
Beyond {
    StringPadding "string-padding" "§2.2.1" "the bytes after a literal string's NUL are 0";
    StringUtf8 "string-utf8" "§2.2.1" "a literal string is UTF-8";
    ClusterPower "cluster-power" "§3.49.21" "a constant ClusterSize is at least 1 and a power of two";
    FloatControlWidth "float-control-width" "§3.6" "a float control names the width of a float type that exists: 16, 32 or 64";
    FloatControlConflict "float-control-conflict" "§3.6" "an entry point has one rounding mode and one denormal mode for a width";
    StoreNonWritable "store-non-writable" "§3.20" "nothing is stored through a NonWritable object";
    LoadNonReadable "load-non-readable" "§3.20" "nothing is loaded through a NonReadable object";
    DebugFileBeyond "source-file" "OpSource" "a file is the result of an OpString";
    ParameterCount "parameter-count" "OpFunction" "a function has as many parameters as its type";
    NonSemanticResult "non-semantic-result" "SPV_KHR_non_semantic_info" "the result type of a non-semantic instruction is void";
    NarrowAtomic "narrow-atomic" "§3.49.18" "no capability of the core makes atomics of 8- and 16-bit integers";
    LocalSizeTwice "local-size-twice" "§3.6" "an entry point has LocalSize or LocalSizeId, not both";
    InterfaceStorage "interface-storage" "VUID 04644" "a compute entry point has no Output variables";
    InterfaceLocation "interface-location" "VUID 04916" "an Input or Output variable that is no built-in has a Location";
    TypeSignedness "type-signedness" "OpTypeInt" "signedness is 0 or 1, at any width";
    DotProduct "dot-product" "OpSDot" "the operands' packing, components and widths fit the result";
    ShiftAmount "shift-amount" "OpShiftLeftLogical" "a constant shift is less than the width";
    SwitchUnique "switch-unique" "OpSwitch" "no two cases of a switch have the same literal";
}
}
